//go:build !amd64

package silero

func bestKernels() kernels { return portable }
