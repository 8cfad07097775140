//! `cache`: what was fetched, how large it is, and its end.

use std::time::SystemTime;

use anyhow::Result;
use krm_files::walk;
use krm_folders::end::End;
use krm_git::cache::{self, Removed};
use krm_show::args::Color;
use krm_show::screen::{self, Page, Reader};
use krm_words::{Word, counted};
use krm_yaml::shown;

use crate::cli::Cache;

/// Prints what is in the cache, or removes it.
///
/// # Errors
/// There is no cache folder, or something cannot be removed.
pub fn cache(args: &Cache) -> Result<End> {
    let (mut page, mut size, mut count) = (Page::new(Reader::of_stdout(Color::Auto)), 0, 0);
    for entry in cache::entries()? {
        let name = shown::name(&entry.name);
        if args.clear && entry.remove()? == Removed::InUse {
            screen::tell(Word::Info, &format!("{name}: another run uses it, so it stays"));
            continue;
        }
        (size, count) = (size + entry.size, count + 1);
        if !args.clear {
            page.line(&format!("{name}: {}, used {}", of_size(entry.size), ago(entry.used)));
        }
    }
    let (did, what) = (if args.clear { "removed " } else { "" }, if count == 1 { "entry" } else { "entries" });
    page.line(&format!("{did}{count} {what}, {}, in {}", of_size(size), walk::shown(&cache::root()?)));
    page.print()?;
    Ok(End::Done)
}

/// A size for people, in one unit.
fn of_size(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte"),
        1024..0x10_0000 => format!("{} KiB", bytes.div_ceil(1024)),
        0x10_0000.. => format!("{} MiB", bytes.div_ceil(0x10_0000)),
    }
}

/// How long ago something was.
fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(time).map_or(0, |since| since.as_secs());
    let of = |seconds: u64, unit| format!("{} ago", counted(usize::try_from(seconds).unwrap_or(usize::MAX), unit));
    match (seconds / 60, seconds / 3600, seconds / 86400) {
        (minutes, 0, _) => of(minutes, "minute"),
        (_, hours, 0) => of(hours, "hour"),
        (_, _, days) => of(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_in_their_unit() {
        for (bytes, want) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1025, "2 KiB"),
            (1 << 20, "1 MiB"),
            ((1 << 30) + 1, "1025 MiB"),
        ] {
            assert_eq!(of_size(bytes), want);
        }
    }
}
