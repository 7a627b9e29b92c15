package realtime

import "strings"

// itemRule says which fields an item of a type must have, in a client's event and in what we send. The schema and the
// checks are both read from here.
type itemRule struct {
	required []string
	content  map[string][]string // role → content types
}

var itemRules = map[string]itemRule{
	ItemMessage: {required: []string{"role", "content"}, content: map[string][]string{
		RoleSystem:    {ContentInputText},
		RoleUser:      {ContentInputText, ContentInputAudio, ContentInputImage},
		RoleAssistant: {ContentOutputText, ContentOutputAudio},
	}},
	ItemFunctionCall:        {required: []string{"name", "arguments"}},
	ItemFunctionCallOutput:  {required: []string{"call_id", "output"}},
	ItemMcpListTools:        {required: []string{"server_label", "tools"}},
	ItemMcpCall:             {required: []string{"server_label", "name", "arguments"}},
	"mcp_tool_call":         {required: []string{"server_label", "name", "arguments"}},
	ItemMcpApprovalRequest:  {required: []string{"server_label", "name", "arguments"}},
	ItemMcpApprovalResponse: {required: []string{"approval_request_id", "approve"}},
	ItemReference:           {required: []string{"id"}},
}

// has reports whether the item has the named field; approve and arguments may be their zero value.
func (i *Item) has(name string) bool {
	switch name {
	case "id":
		return i.ID != ""
	case "role":
		return i.Role != ""
	case "content":
		return i.Content != nil
	case "name":
		return i.Name != ""
	case "call_id":
		return i.CallID != ""
	case "output":
		return i.Output != nil
	case "server_label":
		return i.ServerLabel != ""
	case "tools":
		return i.Tools != nil
	case "approval_request_id":
		return i.ApprovalRequestID != ""
	}
	return true
}

// checkItem holds an item to its type's rule. at is the path of the item.
func checkItem(i *Item, at string) *Error {
	rule := itemRules[i.Type]
	for _, name := range rule.required {
		if !i.has(name) {
			return Invalid(CodeMissingParameter, at+"."+name, "an item of type "+i.Type+" needs this field")
		}
	}
	if i.Type != ItemMessage {
		return nil
	}
	allowed := rule.content[i.Role]
	for n := range i.Content {
		if !contains(allowed, i.Content[n].Type) {
			return Invalid(CodeInvalidValue, at+".content["+itoa(n)+"].type", "a message of role "+i.Role+" may hold: "+strings.Join(allowed, ", "))
		}
	}
	return nil
}

// checkClient looks at what tags cannot say about a client's event.
func checkClient(e Event) *Error {
	switch ev := e.(type) {
	case *SessionUpdate:
		if ev.Session.Type == "" {
			return Invalid(CodeMissingParameter, "session.type", `this field is required: "realtime" or "transcription"`)
		}
		return checkTools(ev.Session.Tools, "session.tools")
	case *ConversationItemCreate:
		if ev.Item.Type == ItemReference {
			return Invalid(CodeInvalidValue, "item.type", "an item_reference can only stand in the input of response.create")
		}
		if ev.Item.Type == ItemMessage && ev.Item.Role == RoleAssistant {
			for n := range ev.Item.Content {
				if ev.Item.Content[n].Type == ContentOutputAudio {
					return Invalid(CodeInvalidValue, "item.content["+itoa(n)+"].type", "assistant audio cannot be created, only assistant text")
				}
			}
		}
		return checkItem(&ev.Item, "item")
	case *ResponseCreate:
		if ev.Response == nil {
			return nil
		}
		for n := range ev.Response.Input {
			if err := checkItem(&ev.Response.Input[n], "response.input["+itoa(n)+"]"); err != nil {
				return err
			}
		}
		return checkTools(ev.Response.Tools, "response.tools")
	}
	return nil
}

func checkTools(tools []Tool, at string) *Error {
	for n := range tools {
		t := &tools[n]
		where := at + "[" + itoa(n) + "]"
		switch {
		case t.Type == "mcp" && t.ServerLabel == "":
			return Invalid(CodeMissingParameter, where+".server_label", "an MCP tool needs this field")
		case t.Type != "mcp" && t.Name == "":
			return Invalid(CodeMissingParameter, where+".name", "a function needs this field")
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
