#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// The functions of the two libraries that are used here. All types behind the pointers are opaque.
static void (*err_set_logfp)(FILE *);
static void *(*cmd_ln_init)(void *, const void *, int, ...);
static int (*cmd_ln_free_r)(void *);
static const void *(*ps_args)(void);
static void *(*ps_init)(void *);
static int (*ps_free)(void *);
static int (*ps_set_jsgf_string)(void *, const char *, const char *);
static int (*ps_set_search)(void *, const char *);
static int (*ps_start_utt)(void *);
static int (*ps_process_raw)(void *, const int16_t *, size_t, int, int);
static int (*ps_end_utt)(void *);
static const char *(*ps_get_hyp)(void *, int32_t *);
static void *(*ps_seg_iter)(void *);
static void *(*ps_seg_next)(void *);
static const char *(*ps_seg_word)(void *);
static void (*ps_seg_frames)(void *, int *, int *);
static int32_t (*ps_seg_prob)(void *, int32_t *, int32_t *, int32_t *);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;
static char message[256];

static void *must(void *lib, const char *name) {
	void *p = lib ? dlsym(lib, name) : NULL;
	if (!p && !failure) {
		snprintf(message, sizeof message, "symbol %s is not there", name);
		failure = message;
	}
	return p;
}

static void load(void) {
	void *base = dlopen("libsphinxbase.so.3", RTLD_NOW | RTLD_GLOBAL);
	void *lib = base ? dlopen("libpocketsphinx.so.3", RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!lib) {
		const char *why = dlerror();
		snprintf(message, sizeof message, "%s", why ? why : "no such library");
		failure = message;
		return;
	}
	err_set_logfp = must(base, "err_set_logfp");
	cmd_ln_init = must(base, "cmd_ln_init");
	cmd_ln_free_r = must(base, "cmd_ln_free_r");
	ps_args = must(lib, "ps_args");
	ps_init = must(lib, "ps_init");
	ps_free = must(lib, "ps_free");
	ps_set_jsgf_string = must(lib, "ps_set_jsgf_string");
	ps_set_search = must(lib, "ps_set_search");
	ps_start_utt = must(lib, "ps_start_utt");
	ps_process_raw = must(lib, "ps_process_raw");
	ps_end_utt = must(lib, "ps_end_utt");
	ps_get_hyp = must(lib, "ps_get_hyp");
	ps_seg_iter = must(lib, "ps_seg_iter");
	ps_seg_next = must(lib, "ps_seg_next");
	ps_seg_word = must(lib, "ps_seg_word");
	ps_seg_frames = must(lib, "ps_seg_frames");
	ps_seg_prob = must(lib, "ps_seg_prob");
	if (!failure)
		err_set_logfp(NULL);
}

const char *hs_open(void) {
	pthread_once(&once, load);
	return failure;
}

void *hs_new(const char *hmm, const char *dict) {
	err_set_logfp(NULL); // the library keeps this per thread
	void *config = cmd_ln_init(NULL, ps_args(), 1, "-hmm", hmm, "-dict", dict, "-remove_silence", "no", "-bestpath", "no",
				   "-beam", "1e-60", "-wbeam", "1e-40", "-pbeam", "1e-60", NULL);
	if (!config)
		return NULL;
	void *ps = ps_init(config);
	cmd_ln_free_r(config);
	return ps;
}

void hs_free(void *ps) { ps_free(ps); }

int hs_grammar(void *ps, const char *name, const char *jsgf) {
	err_set_logfp(NULL);
	return ps_set_jsgf_string(ps, name, jsgf);
}

static int silent(const char *word) {
	return word[0] == '<' || word[0] == '[' || (word[0] == '+' && word[1] == '+') || strcmp(word, "(NULL)") == 0;
}

int hs_decode(void *ps, const char *name, const int16_t *pcm, size_t samples, char *hyp, size_t size, hs_segment *out, int max) {
	err_set_logfp(NULL);
	hyp[0] = 0;
	if (ps_set_search(ps, name) < 0 || ps_start_utt(ps) < 0)
		return -1;
	int failed = ps_process_raw(ps, pcm, samples, 0, 1) < 0;
	if (ps_end_utt(ps) < 0 || failed)
		return -1;
	int32_t best = 0;
	const char *text = ps_get_hyp(ps, &best);
	if (text)
		snprintf(hyp, size, "%s", text);
	int n = 0;
	for (void *seg = ps_seg_iter(ps); seg; seg = ps_seg_next(seg)) {
		int first = 0, last = 0;
		int32_t acoustic = 0, language = 0, backoff = 0;
		ps_seg_frames(seg, &first, &last);
		ps_seg_prob(seg, &acoustic, &language, &backoff);
		if (last < first || n == max)
			continue;
		const char *word = ps_seg_word(seg);
		snprintf(out[n].word, sizeof out[n].word, "%s", word);
		out[n].first = first;
		out[n].last = last;
		out[n].score = acoustic;
		out[n].silence = silent(word);
		n++;
	}
	return n;
}
