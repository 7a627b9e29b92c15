package realtime

func Decode(d Direction, data []byte) (Event, error)          { return nil, nil }
func Encode(e Event) ([]byte, error)                          { return nil, nil }
func Peek(data []byte) (eventType, eventID string, err error) { return "", "", nil }
func (s Session) Merge(u Session) Session                     { return s }
func (s Session) WithDefaults() Session                       { return s }
