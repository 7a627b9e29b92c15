"""Runs the Silero weights in ONNX Runtime, the reference for package silero.

usage: golden.py make MODEL     writes golden.json beside this file
       golden.py live MODEL     reads 16-bit little-endian samples from standard input, prints one probability per window
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime

WINDOW, CONTEXT = 512, 64
HERE = pathlib.Path(__file__).parent


def probabilities(model, samples):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    state = np.zeros((2, 1, 128), np.float32)
    context = np.zeros(CONTEXT, np.float32)
    out = []
    for at in range(0, len(samples) - WINDOW + 1, WINDOW):
        window = samples[at : at + WINDOW].astype(np.float32) / 32768
        x = np.concatenate([context, window])[None]
        p, state = session.run(None, {"input": x, "state": state, "sr": np.array(16000, np.int64)})
        out.append(float(p[0, 0]))
        context = window[-CONTEXT:]
    return out


def noise(n, amplitude):
    """White noise of a 32-bit linear congruential generator; signal_test.go has the same."""
    out, s = [], 1
    for _ in range(n):
        s = (s * 1664525 + 1013904223) % 2**32
        out.append((s >> 16) * amplitude // 32768 - amplitude)
    return np.array(out, np.int16)


def square(n, period, amplitude):
    return np.array([amplitude if i % period < period // 2 else -amplitude for i in range(n)], np.int16)


def signals():
    speech = np.frombuffer((HERE / "speech.pcm").read_bytes(), "<i2")
    n = 40 * WINDOW
    return {
        "speech": speech,
        "silence": np.zeros(n, np.int16),
        "noise": noise(n, 3000),
        "full-scale": square(n, 100, 32767),
        "speech in noise": (speech[:n] // 4 + noise(n, 400)).astype(np.int16),
    }


def main():
    what, model = sys.argv[1:]
    if what == "live":
        for p in probabilities(model, np.frombuffer(sys.stdin.buffer.read(), "<i2")):
            print(p)
        return
    golden = {
        "onnxruntime": onnxruntime.__version__,
        "probabilities": {k: [round(p, 7) for p in probabilities(model, v)] for k, v in signals().items()},
    }
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


main()
