//! An error in one line.

/// The message of an error with its causes. Some libraries already put the cause into the message; then it is not repeated.
pub fn chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        said if said.contains(&cause) => told,
        said => format!("{said}: {cause}"),
    })
}
