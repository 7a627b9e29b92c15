package command

import (
	"strconv"
	"strings"
)

var small = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
	"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}

var tens = []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}

// numbersInWords writes the whole numbers of an English phrase as they are spoken; a number of four digits is read as a year.
func numbersInWords(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 9999 {
			continue
		}
		words[i] = number(n)
	}
	return strings.Join(words, " ")
}

func number(n int) string {
	switch {
	case n < 20:
		return small[n]
	case n < 100:
		if n%10 == 0 {
			return tens[n/10]
		}
		return tens[n/10] + " " + small[n%10]
	case n < 1000:
		if n%100 == 0 {
			return small[n/100] + " hundred"
		}
		return small[n/100] + " hundred " + number(n%100)
	case n%1000 < 10:
		if n%1000 == 0 {
			return small[n/1000] + " thousand"
		}
		return small[n/1000] + " thousand " + small[n%1000]
	case n%100 == 0:
		return number(n/100) + " hundred"
	case n%100 < 10:
		return number(n/100) + " oh " + small[n%100]
	}
	return number(n/100) + " " + number(n%100)
}
