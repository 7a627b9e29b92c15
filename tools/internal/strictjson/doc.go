// Package strictjson reads JSON that a model wrote, and refuses what two readers could understand differently.
//
// It owns the refusals: duplicate keys, numbers that a double cannot hold exactly, broken Unicode, excess depth, text
// after the value. It never guesses and never repeats what it read in an error.
package strictjson
