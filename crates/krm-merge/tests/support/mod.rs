pub mod document;
pub mod git;
