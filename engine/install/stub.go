package install

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// stub is a shared library for Linux on x86-64 with a name and nothing in it.
// It stands for one that a program names and never calls, as long as symbols
// are bound lazily.
func stub(soname string) string {
	const headers = 64 + 2*56 // the file's and two segments'
	names := "\x00" + soname + "\x00"
	hash := []uint32{1, 1, 0, 0} // one bucket, one symbol
	at := struct{ hash, symbols, names, dynamic uint64 }{hash: headers, symbols: headers + 16, names: headers + 16 + 24}
	at.dynamic = (at.names + uint64(len(names)) + 7) &^ 7
	dynamic := [][2]uint64{
		{uint64(elf.DT_SONAME), 1},
		{uint64(elf.DT_HASH), at.hash},
		{uint64(elf.DT_STRTAB), at.names},
		{uint64(elf.DT_SYMTAB), at.symbols},
		{uint64(elf.DT_STRSZ), uint64(len(names))},
		{uint64(elf.DT_SYMENT), 24},
		{uint64(elf.DT_NULL), 0},
	}
	long := uint64(len(dynamic) * 16)
	whole := at.dynamic + long
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a buffer takes all
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64,
	})
	read := uint32(elf.PF_R | elf.PF_W)
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: read, Filesz: whole, Memsz: whole, Align: 0x1000})
	put(elf.Prog64{
		Type: uint32(elf.PT_DYNAMIC), Flags: read, Off: at.dynamic, Vaddr: at.dynamic, Paddr: at.dynamic, Filesz: long, Memsz: long, Align: 8,
	})
	put(hash)
	put(elf.Sym64{})
	b.WriteString(names)
	b.Write(make([]byte, at.dynamic-uint64(b.Len())))
	put(dynamic)
	return b.String()
}
