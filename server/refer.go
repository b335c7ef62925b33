package server

import (
	"bytes"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/dialect/tape"
)

// referred appends a request's items to those before it. An item_reference
// becomes the item of a stored response that it names; one that names an item
// which stands there already is left out. size is the bytes of all items so
// far; what is referred to counts with them against the limit of a body.
func (s *Server) referred(c *call, before, own [][]byte, size int) ([][]byte, error) {
	all := before
	there := map[string]bool{} // ids of all[:seen]
	seen := 0
	for _, item := range own {
		id, refers := reference(item)
		if !refers {
			all = append(all, item)
			continue
		}
		for ; seen < len(all); seen++ {
			there[itemID(all[seen])] = true
		}
		if id != "" && there[id] {
			continue
		}
		found, err := s.storedItem(c, id)
		if err != nil {
			return nil, err
		}
		if size += len(found); size > s.o.MaxBody {
			return nil, s.tooLarge()
		}
		all = append(all, found)
	}
	return all, nil
}

// reference is the id that an item_reference names.
func reference(item []byte) (id string, refers bool) {
	if !bytes.Contains(item, []byte(`"item_reference"`)) {
		return "", false
	}
	doc, err := tape.Parse(item)
	if err != nil {
		return "", false
	}
	defer doc.Free()
	root := doc.Root()
	return root.Key("id").Text(), root.Key("type").Text() == "item_reference"
}

// storedItem finds an item of a stored response of the caller.
func (s *Server) storedItem(c *call, id string) ([]byte, error) {
	if response, ok := dialect.ResponseOf(id); ok {
		r, ok, err := s.stored(c, response)
		if err != nil {
			return nil, err
		}
		if ok {
			for _, item := range outputOf(r.Document) {
				if itemID(item) == id {
					return item, nil
				}
			}
		}
	}
	return nil, &dialect.Problem{
		Kind: dialect.NotFound, Param: "input", Code: "item_not_found",
		Message: "Item with id '" + clip(id) + "' not found. Only items of stored responses can be referred to.",
	}
}
