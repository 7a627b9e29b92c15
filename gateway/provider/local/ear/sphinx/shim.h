// A narrow C face on PocketSphinx 5prealpha (Debian's libpocketsphinx3), opened with dlopen.
#ifndef HOVOR_SPHINX_SHIM_H
#define HOVOR_SPHINX_SHIM_H

#include <stddef.h>
#include <stdint.h>

// hs_open loads the libraries once. It returns NULL, or a message that stays valid.
const char *hs_open(void);

// hs_new makes a decoder, or NULL. The files are read, nothing is written.
void *hs_new(const char *hmm, const char *dict);
void hs_free(void *ps);

// hs_grammar compiles a JSGF grammar under a name. 0 is success.
int hs_grammar(void *ps, const char *name, const char *jsgf);

typedef struct {
	char word[32];
	int first, last; // 10 ms frames, inclusive
	int score;       // acoustic, in the library's log units
	int silence;
} hs_segment;

// hs_decode searches one whole utterance with a named grammar. It copies the hypothesis, empty when the grammar's end was
// not reached, and at most max segments, and returns their number, or -1.
int hs_decode(void *ps, const char *name, const int16_t *pcm, size_t samples, char *hyp, size_t size, hs_segment *out, int max);

#endif
