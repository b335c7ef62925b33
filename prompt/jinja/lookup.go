package jinja

func newAttr(of expr, name token) *attrExpr {
	return &attrExpr{of, name.text, name.line, onlyKey(name.text), loopNumbers[name.text], stringMethods[name.text], mapMethods[name.text]}
}

func newItem(of, key expr, line int) *itemExpr {
	x := &itemExpr{of: of, key: key, line: line}
	if c, ok := key.(*constExpr); ok && c.v.kind == kString {
		x.name = c.v.str()
		x.plain = onlyKey(x.name)
	}
	return x
}

// onlyKey reports a name that a mapping has no attribute of.
func onlyKey(name string) bool {
	_, method := mapMethods[name]
	return !method && !hidden(Mapping(nil), name)
}

// method is the method that a value has under the name, nil if there is none.
func (x *attrExpr) method(of Value) method {
	switch of.kind {
	case kString:
		return x.onText
	case kMap:
		return x.onMap
	}
	return methodOf(of, x.name)
}

func (x *attrExpr) eval(r *run) (Value, error) {
	if x.key {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v != nil {
				return *v, nil
			}
			if holdsMap(r, x.of) {
				return undefinedKey(x.name), nil
			}
		} else if x.number != noNumber {
			if l := loopOf(r, x.of); l != nil {
				return l.quick(x.number), nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	if of.kind == kMap && x.key {
		if v := of.mapping().peek(x.name); v != nil {
			return *v, nil
		}
		return undefinedKey(x.name), nil
	}
	v, err := r.attr(of, x.name)
	return v, at(x.line, err)
}

func (x *attrExpr) test(r *run) (bool, error) {
	if x.key {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v == nil {
				return false, nil
			} else if v.kind != kUndefined {
				return truth(*v), nil
			}
		} else if x.number != noNumber {
			if l := loopOf(r, x.of); l != nil {
				return l.quick(x.number).n != 0, nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return false, err
	}
	if x.key && (of.kind == kMap || of.kind == kNamespace) {
		v := of.mapping().peek(x.name)
		if v == nil {
			return false, nil
		}
		if v.kind != kUndefined {
			return truth(*v), nil
		}
	}
	v, err := r.attr(of, x.name)
	if err != nil {
		return false, at(x.line, err)
	}
	return truth(v), nil
}

func (x *itemExpr) eval(r *run) (Value, error) {
	if x.plain {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v != nil {
				return *v, nil
			}
			if holdsMap(r, x.of) {
				return undefinedKey(x.name), nil
			}
		}
	}
	of, err := x.of.eval(r)
	if err != nil {
		return of, err
	}
	var k Value
	if c, ok := x.key.(*constExpr); ok {
		k = c.v
		if of.kind == kMap && x.plain {
			if v := of.mapping().peek(x.name); v != nil {
				return *v, nil
			}
			return undefinedKey(x.name), nil
		}
	} else if k, err = x.key.eval(r); err != nil {
		return k, err
	}
	v, err := r.item(of, k)
	return v, at(x.line, err)
}
