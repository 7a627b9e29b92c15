package realtime

import (
	"reflect"
	"sync"
)

// clientEvents and serverEvents are all the events there are, in the order in which the schemas list them.
var clientEvents = []Event{
	(*SessionUpdate)(nil), (*InputAudioBufferAppend)(nil), (*InputAudioBufferCommit)(nil), (*InputAudioBufferClear)(nil),
	(*OutputAudioBufferClear)(nil), (*ConversationItemCreate)(nil), (*ConversationItemDelete)(nil), (*ConversationItemRetrieve)(nil),
	(*ConversationItemTruncate)(nil), (*ResponseCreate)(nil), (*ResponseCancel)(nil), (*TranscriptionSessionUpdate)(nil),
	(*HovorPlayout)(nil),
}

var serverEvents = []Event{
	(*SessionCreated)(nil), (*SessionUpdated)(nil), (*ErrorEvent)(nil),
	(*ConversationCreated)(nil), (*ConversationItemAdded)(nil), (*ConversationItemDone)(nil), (*ConversationItemCreated)(nil),
	(*ConversationItemRetrieved)(nil), (*ConversationItemDeleted)(nil), (*ConversationItemTruncated)(nil),
	(*ConversationItemInputAudioTranscriptionDelta)(nil), (*ConversationItemInputAudioTranscriptionCompleted)(nil),
	(*ConversationItemInputAudioTranscriptionSegment)(nil), (*ConversationItemInputAudioTranscriptionFailed)(nil),
	(*InputAudioBufferCommitted)(nil), (*InputAudioBufferCleared)(nil), (*InputAudioBufferSpeechStarted)(nil),
	(*InputAudioBufferSpeechStopped)(nil), (*InputAudioBufferTimeoutTriggered)(nil), (*InputAudioBufferDtmfEventReceived)(nil),
	(*OutputAudioBufferStarted)(nil), (*OutputAudioBufferStopped)(nil), (*OutputAudioBufferCleared)(nil),
	(*ResponseCreated)(nil), (*ResponseDone)(nil), (*ResponseOutputItemAdded)(nil), (*ResponseOutputItemDone)(nil),
	(*ResponseContentPartAdded)(nil), (*ResponseContentPartDone)(nil), (*ResponseOutputTextDelta)(nil), (*ResponseOutputTextDone)(nil),
	(*ResponseOutputAudioDelta)(nil), (*ResponseOutputAudioDone)(nil), (*ResponseOutputAudioTranscriptDelta)(nil),
	(*ResponseOutputAudioTranscriptDone)(nil), (*ResponseFunctionCallArgumentsDelta)(nil), (*ResponseFunctionCallArgumentsDone)(nil),
	(*ResponseMcpCallArgumentsDelta)(nil), (*ResponseMcpCallArgumentsDone)(nil), (*ResponseMcpCallInProgress)(nil),
	(*ResponseMcpCallCompleted)(nil), (*ResponseMcpCallFailed)(nil),
	(*McpListToolsInProgress)(nil), (*McpListToolsCompleted)(nil), (*McpListToolsFailed)(nil), (*RateLimitsUpdated)(nil),
	(*HovorCall)(nil), (*HovorState)(nil), (*HovorTurn)(nil), (*HovorHeard)(nil), (*HovorTool)(nil), (*HovorScreenRequest)(nil),
	(*HovorProvider)(nil), (*HovorEnding)(nil), (*HovorEnded)(nil),
}

// kindOfEvent is one entry of the registry.
type kindOfEvent struct {
	from  Direction
	goTyp reflect.Type // the struct
	shape *shape
}

var registry = sync.OnceValue(func() map[string]kindOfEvent {
	m := make(map[string]kindOfEvent, len(clientEvents)+len(serverEvents))
	add := func(d Direction, events []Event) {
		for _, e := range events {
			t := reflect.TypeOf(e).Elem()
			m[e.EventType()] = kindOfEvent{d, t, shapeOf(t)}
		}
	}
	add(FromClient, clientEvents)
	add(FromServer, serverEvents)
	return m
})

// EventTypes lists the type strings of all events that d sends.
func EventTypes(d Direction) []string {
	events := clientEvents
	if d == FromServer {
		events = serverEvents
	}
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.EventType()
	}
	return names
}

// New makes an empty event of the given type that d sends, nil when there is none.
func New(d Direction, eventType string) Event {
	k, ok := registry()[eventType]
	if !ok || k.from != d {
		return nil
	}
	return reflect.New(k.goTyp).Interface().(Event)
}
