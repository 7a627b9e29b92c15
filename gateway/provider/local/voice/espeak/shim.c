#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// From speak_lib.h, which has kept these since revision 2.
enum { eventEnd = 0, eventWord = 1 };
enum { outputSynchronous = 2, positionCharacter = 1, charsUTF8 = 1, noExit = 0x8000 };
enum { parameterRate = 1, parameterPitch = 3 };

typedef struct {
	int type;
	unsigned int identifier;
	int text_position;
	int length;
	int audio_position;
	int sample;
	void *user_data;
	union {
		int number;
		const char *name;
		char string[8];
	} id;
} event;

typedef int(callback)(short *, int, event *);

static int (*initialize)(int, int, const char *, int);
static void (*set_callback)(callback *);
static int (*set_voice)(const char *);
static int (*set_parameter)(int, int, int);
static int (*synth)(const void *, size_t, unsigned int, int, unsigned int, unsigned int, unsigned int *, void *);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;
static char message[256];
static int sample_rate;

// What the running hs_speak collects.
static struct {
	int16_t *pcm;
	size_t samples, room;
	hs_word *words;
	size_t count, space;
	const volatile int *stop;
	int failed;
} now;

static int collect(short *wav, int n, event *events) {
	if (now.stop && *now.stop)
		return 1;
	for (event *e = events; e && e->type != eventEnd; e++) {
		if (e->type != eventWord)
			continue;
		if (now.count == now.space) {
			size_t space = now.space ? now.space * 2 : 64;
			hs_word *grown = realloc(now.words, space * sizeof *grown);
			if (!grown) {
				now.failed = 1;
				return 1;
			}
			now.words = grown;
			now.space = space;
		}
		now.words[now.count++] = (hs_word){e->text_position, e->length, e->audio_position};
	}
	if (wav && n > 0) {
		if (now.samples + n > now.room) {
			size_t room = (now.samples + n) * 2;
			int16_t *grown = realloc(now.pcm, room * sizeof *grown);
			if (!grown) {
				now.failed = 1;
				return 1;
			}
			now.pcm = grown;
			now.room = room;
		}
		memcpy(now.pcm + now.samples, wav, n * sizeof *wav);
		now.samples += n;
	}
	return 0;
}

static void *must(void *lib, const char *name) {
	void *p = dlsym(lib, name);
	if (!p && !failure) {
		snprintf(message, sizeof message, "symbol %s is not there", name);
		failure = message;
	}
	return p;
}

static void load(void) {
	void *lib = dlopen("libespeak-ng.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		const char *why = dlerror();
		snprintf(message, sizeof message, "%s", why ? why : "no such library");
		failure = message;
		return;
	}
	initialize = must(lib, "espeak_Initialize");
	set_callback = must(lib, "espeak_SetSynthCallback");
	set_voice = must(lib, "espeak_SetVoiceByName");
	set_parameter = must(lib, "espeak_SetParameter");
	synth = must(lib, "espeak_Synth");
	if (failure)
		return;
	sample_rate = initialize(outputSynchronous, 0, NULL, noExit);
	if (sample_rate <= 0) {
		failure = "its voice data is not there";
		return;
	}
	set_callback(collect);
}

const char *hs_espeak_open(int *rate) {
	pthread_once(&once, load);
	*rate = sample_rate;
	return failure;
}

int hs_speak(const char *voice, const char *text, int rate, int pitch, int16_t **pcm, size_t *samples, hs_word **words,
	     size_t *count, const volatile int *stop) {
	memset(&now, 0, sizeof now);
	now.stop = stop;
	int rc = set_voice(voice);
	if (rc == 0) {
		set_parameter(parameterRate, rate, 0);
		set_parameter(parameterPitch, pitch, 0);
		rc = synth(text, strlen(text) + 1, 0, positionCharacter, 0, charsUTF8, NULL, NULL);
	}
	if (now.failed)
		rc = -1;
	*pcm = now.pcm;
	*samples = now.samples;
	*words = now.words;
	*count = now.count;
	return rc;
}
