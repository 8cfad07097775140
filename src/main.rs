//! The program of the image: the function alone, small and static.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_merge_function::program::main(
        "this program is the function alone, and the one with commands, such as `krm-merge upgrade`, is at https://github.com/krm-merge/krm-merge#install",
    )
}
