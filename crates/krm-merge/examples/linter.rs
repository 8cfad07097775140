//! A linter of overlays: says what a patch does not do, and what it does that its author may not want.
//!
//! `cargo run -p krm-merge --example linter PATCH BASE`. It fails if an event is more than an info.

#![expect(clippy::print_stdout, reason = "its findings are its output")]

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use krm_merge::words::message;
use krm_merge::{Merge, Package, Severity, Treatment, What};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let mut package = || -> Result<Package, Box<dyn Error>> {
        Ok(Package::of_text(fs::read_to_string(args.next().ok_or("two files must be given")?)?)?)
    };
    let (patch, base) = (package()?, package()?);
    let plan = match Merge::strategic(&patch, &base).run() {
        Ok(merged) => merged.plan(Treatment::default())?,
        Err(krm_merge::Error::Failed(events)) => {
            events.iter().for_each(|event| println!("error: {}", message(event)));
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    };
    let mut code = ExitCode::SUCCESS;
    for event in &plan.events {
        // A program asks what happened, and never what the message says.
        let is_idle = matches!(event.what, What::GoneBefore(_) | What::NoPlace { .. });
        if event.severity != Severity::Info || is_idle {
            println!("{}", message(event));
            code = ExitCode::FAILURE;
        }
    }
    if plan.changes.is_empty() {
        println!("the patch changes nothing");
        code = ExitCode::FAILURE;
    }
    Ok(code)
}
