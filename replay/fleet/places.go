package fleet

// places finds the Slot of a hash. Hashes are spread evenly as they are, and
// none is 0. A place holds no pointer: the garbage collector passes it by.
type places struct {
	at   []place // a power of two, at most half full
	used int
}

type place struct {
	hash uint64
	slot Slot
}

// get finds a hash; false is that it is not there.
func (p *places) get(hash uint64) (Slot, bool) {
	if len(p.at) == 0 {
		return 0, false
	}
	mask := uint64(len(p.at) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch p.at[i].hash {
		case hash:
			return p.at[i].slot, true
		case 0:
			return 0, false
		}
	}
}

// add puts a hash there unless it is; then it is false.
func (p *places) add(hash uint64, s Slot) bool {
	if 2*(p.used+1) > len(p.at) {
		p.grow()
	}
	mask := uint64(len(p.at) - 1)
	i := hash & mask
	for ; p.at[i].hash != 0; i = (i + 1) & mask {
		if p.at[i].hash == hash {
			return false
		}
	}
	p.at[i] = place{hash, s}
	p.used++
	return true
}

// drop takes a hash away, which must be there, and moves those behind it up
// that it kept from their own places.
func (p *places) drop(hash uint64) {
	mask := uint64(len(p.at) - 1)
	i := hash & mask
	for p.at[i].hash != hash {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; p.at[j].hash != 0; j = (j + 1) & mask {
		if home := p.at[j].hash & mask; (j-home)&mask >= (j-i)&mask {
			p.at[i] = p.at[j]
			i = j
		}
	}
	p.at[i] = place{}
	p.used--
}

// grow doubles the table.
func (p *places) grow() {
	old := p.at
	p.at, p.used = make([]place, max(2*len(old), 1024)), 0
	for _, x := range old {
		if x.hash != 0 {
			p.add(x.hash, x.slot)
		}
	}
}
