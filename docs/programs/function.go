// Runs the function in this process, by `go get github.com/tetratelabs/wazero`: go run function.go krm-merge.wasm < LIST
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// Function is compiled once and runs often.
type Function struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

func compile(ctx context.Context, wasm []byte) (*Function, error) {
	runtime := wazero.NewRuntime(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	module, err := runtime.CompileModule(ctx, wasm)
	return &Function{runtime, module}, err
}

// run reads a ResourceList and writes one. The exit code is 0 if the function passed.
func (f *Function) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (uint32, error) {
	// Without a name, several instances may run at once.
	config := wazero.NewModuleConfig().WithName("").WithArgs("krm-merge")
	module, err := f.runtime.InstantiateModule(ctx, f.module, config.WithStdin(stdin).WithStdout(stdout).WithStderr(stderr))
	if exit := new(sys.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, err
	}
	return 0, module.Close(ctx)
}

func main() {
	ctx := context.Background()
	wasm, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	function, err := compile(ctx, wasm)
	if err != nil {
		log.Fatal(err)
	}
	code, err := function.run(ctx, os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(int(code))
}
