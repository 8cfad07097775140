//! Reads the objects of a repository, one after the other, from one `git cat-file`.
//!
//! A release needs some trees and files. A process for each of them would take longer than the merge.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::program::MISSING;

/// A running `git cat-file --batch`.
#[derive(Debug)]
pub struct Objects {
    child: Child,
    asked: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// An object.
#[derive(Debug)]
pub struct GitObject {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Objects {
    /// Starts git on a repository.
    ///
    /// # Errors
    /// git cannot be run.
    pub fn of(mut git: Command) -> Result<Self> {
        git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = git.spawn().context(MISSING)?;
        let (asked, answers) = (child.stdin.take(), child.stdout.take().context(MISSING)?);
        Ok(Self { child, asked, answers: BufReader::new(answers) })
    }

    /// Reads an object; `None` if it is not there. `what` is an expression of git without a line break.
    ///
    /// # Errors
    /// The object has more than `most` bytes; or git does not answer.
    pub fn read(&mut self, what: &str, most: u64) -> Result<Option<GitObject>> {
        let asked = self.asked.as_mut().context(MISSING)?;
        asked.write_all(format!("{what}\n").as_bytes()).context(SILENT)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).context(SILENT)?;
        let words: Vec<&str> = line.trim_end().rsplitn(3, ' ').collect();
        let [size, kind, name] = words[..] else { return Ok(None) };
        let Ok(size) = size.parse::<u64>() else { return Ok(None) };
        if size > most {
            bail!("a file of a release must have at most {most} bytes, but it has {size}");
        }
        let mut bytes = vec![0; usize::try_from(size)?];
        self.answers.read_exact(&mut bytes).context(SILENT)?;
        self.answers.read_exact(&mut [0]).context(SILENT)?;
        Ok(Some(GitObject { name: name.to_owned(), kind: kind.to_owned(), bytes }))
    }
}

const SILENT: &str = "`git cat-file` must answer";

impl Drop for Objects {
    fn drop(&mut self) {
        // git ends when nothing more is asked. After an error, it may still be printing.
        self.asked = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
