//! What stands for a cluster in a program that was built without the feature `live`: it asks none.

use anyhow::Result;
use clap::Args;
use krm_yaml::Document;

/// No flags.
#[derive(Debug, Args)]
pub struct Ask {}

impl Ask {
    /// Nobody can want it.
    pub fn is_meant(&self) -> bool {
        false
    }

    /// No definition is known.
    ///
    /// # Errors
    /// None.
    pub fn definitions(&self, _api_version: &str, _kind: &str) -> Result<Option<Document<'static>>> {
        Ok(None)
    }
}
