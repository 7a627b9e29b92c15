// A narrow C face on eSpeak NG (Debian's libespeak-ng1, API revision 12), opened with dlopen.
#ifndef HOVOR_ESPEAK_SHIM_H
#define HOVOR_ESPEAK_SHIM_H

#include <stddef.h>
#include <stdint.h>

// hs_espeak_open loads and initializes the library once. It returns NULL, or a message that stays valid. *rate is Hz.
const char *hs_espeak_open(int *rate);

typedef struct {
	int text;  // characters from the start of the text, counted from 1
	int chars; // length in characters
	int ms;    // since the start of the speech
} hs_word;

// hs_speak synthesizes a UTF-8 text. The caller frees *pcm and *words. *stop may be set by another thread.
// One caller at a time. 0 is success.
int hs_speak(const char *voice, const char *text, int rate, int pitch, int16_t **pcm, size_t *samples, hs_word **words,
	     size_t *count, const volatile int *stop);

#endif
