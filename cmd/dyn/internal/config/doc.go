// Package config finds out what the user wants. Every setting is one row of
// one table: its key, its kind, what it means. The help page, the environment
// names, the flags and the check of the files all come from that table.
//
// A setting's value is looked for in this order, and the first place wins:
//
//   - a flag of the command line
//   - the environment, DYN_SECTION__KEY
//   - the project file: .dyn.yaml in the working folder or the nearest one
//     above it
//   - the user file: config.yaml in the config folder
//   - the recipe
//
// The last place is the table itself, for settings that no recipe has. Files
// are strict: an unknown key is an error with its line and the nearest key
// that exists, and so is a value of the wrong kind. A file may have 1 MiB.
// Environment names that start with DYN_ and are no setting's are not read;
// Ignored lists them, because another program uses the prefix too.
//
// A Value keeps where it came from, so that dyn doctor can say which won.
// Paths in a file are relative to that file, others to the working folder.
package config
