package sim

import (
	"strconv"
	"time"

	"github.com/agentinfer/dyn/engine/sim/core"
)

// appendHead appends the start that all objects of one answer share.
func (d *dress) appendHead(dst []byte, model string, at time.Time) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendText(dst, []byte(d.id))
	dst = append(dst, `,"object":"text_completion","created":`...)
	dst = strconv.AppendInt(dst, at.Unix(), 10)
	dst = append(dst, `,"model":`...)
	dst = appendText(dst, []byte(model))
	return append(dst, `,"choices":[`...)
}

// appendChunk appends the event for one piece. A piece that shows neither
// text nor ids nor an end is no event.
func (d *dress) appendChunk(dst []byte, p *core.Piece) []byte {
	d.made += len(p.IDs)
	d.cached = p.Cached
	if len(p.Text) == 0 && p.End == nil && !d.c.returnIDs {
		return dst
	}
	dst = append(dst, "data: "...)
	dst = append(dst, d.head...)
	dst = d.appendChoice(dst, p)
	dst = append(dst, `,"prompt_token_ids":`...)
	dst = d.appendReturned(dst, d.prompt, !d.begun)
	dst = append(dst, `,"token_ids":`...)
	dst = d.appendReturned(dst, p.IDs, true)
	dst = append(dst, "}]"...)
	d.begun = true
	if d.c.usage && d.c.continuous {
		dst = d.appendCounts(append(dst, `,"usage":{`...))
		dst = append(dst, '}')
	}
	if p.End != nil && !d.c.usage {
		dst = d.appendPrint(dst)
	}
	return append(dst, "}\n\n"...)
}

// appendUsageChunk appends the event that only counts.
func (d *dress) appendUsageChunk(dst []byte) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, d.head...)
	dst = d.appendCounts(append(dst, `],"usage":{`...))
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(d.cached), 10)
	dst = d.appendPrint(append(dst, "}}"...))
	return append(dst, "}\n\n"...)
}

// appendDocument appends the whole answer as one object.
func (d *dress) appendDocument(dst []byte, p *core.Piece) []byte {
	d.made, d.cached = len(p.IDs), p.Cached
	dst = append(dst, d.head...)
	dst = d.appendChoice(dst, p)
	dst = append(dst, `,"token_ids":`...)
	dst = d.appendReturned(dst, p.IDs, true)
	dst = append(dst, `,"prompt_logprobs":null,"prompt_token_ids":`...)
	dst = d.appendReturned(dst, d.prompt, true)
	dst = append(dst, `,"routed_experts":null}],"service_tier":null`...)
	dst = d.appendPrint(dst)
	dst = d.appendCounts(append(dst, `,"usage":{`...))
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(d.cached), 10)
	dst = append(dst, `,"created_cache_tokens":null,"multimodal_tokens":null},"completion_tokens_details":null}`...)
	return append(dst, `,"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}`...)
}

// appendChoice appends a choice up to its stop reason, and leaves it open.
func (d *dress) appendChoice(dst []byte, p *core.Piece) []byte {
	dst = append(dst, `{"index":0,"text":`...)
	dst = appendText(dst, p.Text)
	dst = append(dst, `,"logprobs":null,"finish_reason":`...)
	if p.End == nil {
		return append(dst, `null,"stop_reason":null`...)
	}
	dst = append(dst, '"')
	dst = append(dst, p.End.Reason...)
	dst = append(dst, `","stop_reason":`...)
	switch {
	case p.End.StopText != "":
		return appendText(dst, []byte(p.End.StopText))
	case p.End.StopID >= 0:
		return strconv.AppendInt(dst, int64(p.End.StopID), 10)
	}
	return append(dst, "null"...)
}

// appendReturned appends ids where the client wants ids and they are due.
func (d *dress) appendReturned(dst []byte, ids []uint32, due bool) []byte {
	if !d.c.returnIDs || !due {
		return append(dst, "null"...)
	}
	return appendIDs(dst, ids)
}

// appendCounts appends the counts of a usage object and leaves it open.
func (d *dress) appendCounts(dst []byte) []byte {
	dst = append(dst, `"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(len(d.prompt)), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(len(d.prompt)+d.made), 10)
	dst = append(dst, `,"completion_tokens":`...)
	return strconv.AppendInt(dst, int64(d.made), 10)
}

func (d *dress) appendPrint(dst []byte) []byte {
	dst = append(dst, `,"system_fingerprint":`...)
	return appendText(dst, []byte(d.print))
}
