package jinja

// truthOf is the truth of an evaluated expression.
func truthOf(v Value, err error) (bool, error) { return err == nil && truth(v), err }

func (x *constExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *nameExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *tupleExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *listExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *dictExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *itemExpr) test(r *run) (bool, error) {
	if x.plain {
		if m := holder(r, x.of); m != nil {
			if v := m.peek(x.name); v != nil && v.kind != kUndefined {
				return truth(*v), nil
			}
		}
	}
	return truthOf(x.eval(r))
}

func (x *sliceExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *callExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *filterExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *signExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *binExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *concatExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *condExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *fieldExpr) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

func (x *loopTest) test(r *run) (bool, error) { return truthOf(x.eval(r)) }

// A namespace's attribute as a target is evaluated to the namespace.
func (x *fieldExpr) eval(r *run) (Value, error) { return x.ns.eval(r) }

func (x *loopTest) eval(r *run) (Value, error) { return x.cond.eval(r) }
