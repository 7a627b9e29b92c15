#!/bin/sh
# Makes the speech fixtures of this directory: flite's voice slt, 16 kHz mono 16 bit, peak at -3 dB, 0.3 s of silence
# before and 0.7 s after the words. Debian packages: flite, sox. Run it in this directory.
set -eu
say() {
	flite -voice slt --setf duration_stretch="$2" -t "$3" -o "$1.tmp.wav"
	sox -q -D "$1.tmp.wav" -r 16000 -c 1 -b 16 "$1.wav" norm -3 pad 0.3 0.7
	rm "$1.tmp.wav"
}
say hello 1.1 "hello"
say open-welcome 1.0 "open the document welcome"
say read-pricing 1.0 "read me the document pricing"
say story 1.0 "tell me a long story"
say stop 1.2 "stop"
say wait 1.1 "wait a minute"
say search 1.0 "search the documents for winter storage"
say changes 1.0 "what changed recently"
say processes 1.0 "list the processes"
say nonsense 1.0 "my grandmother lives in a small village"
