//! The program as the function, beside which some tests run the plugin.

/// Its path.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_krm-merge")
}
