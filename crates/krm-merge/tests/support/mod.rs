pub mod document;
pub mod git;
pub mod sampled;
