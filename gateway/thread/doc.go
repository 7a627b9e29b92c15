// Package thread keeps what was said: the spoken and typed words of both sides of a conversation, in order, one thread per topic.
//
// It owns the store of threads, who may read one, and the order of items within. It holds for the assistant only words that
// were heard, as the caller counted them. It never holds a tool's argument or result, a credential, or audio, and its writers
// never wait for a disk.
package thread
