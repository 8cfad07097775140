// Merges a new release of one file into it, by krm-merge on PATH: go run merge.go ORIGINAL UPDATED DEST
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
)

// Merged is what this program reads of the output; the page "From a program" has the rest.
type Merged struct {
	Passed    bool
	Files     map[string]string
	Results   []struct{ Severity, Message string }
	Conflicts []struct {
		What string
		Line int
		Open bool
	}
}

func merge(sides map[string]string) (merged Merged, err error) {
	input, err := json.Marshal(sides)
	if err != nil {
		return merged, err
	}
	program := exec.Command("krm-merge", "merge")
	program.Stdin, program.Stderr = bytes.NewReader(input), os.Stderr
	output, err := program.Output()
	// With exit code 1, the output says why nothing is merged.
	if err != nil && program.ProcessState.ExitCode() != 1 {
		return merged, err
	}
	return merged, json.Unmarshal(output, &merged)
}

func main() {
	sides := map[string]string{}
	for at, side := range []string{"original", "updated", "dest"} {
		text, err := os.ReadFile(os.Args[at+1])
		if err != nil {
			log.Fatal(err)
		}
		sides[side] = string(text)
	}
	merged, err := merge(sides)
	if err != nil {
		log.Fatal(err)
	}
	for _, told := range merged.Results {
		fmt.Fprintf(os.Stderr, "%s: %s\n", told.Severity, told.Message)
	}
	code := 0
	for _, conflict := range merged.Conflicts {
		fmt.Printf("%d: %s\n", conflict.Line, conflict.What)
		if conflict.Open {
			code = 1
		}
	}
	if !merged.Passed {
		os.Exit(1)
	}
	if err := os.WriteFile(os.Args[3], []byte(merged.Files[""]), 0o644); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}
