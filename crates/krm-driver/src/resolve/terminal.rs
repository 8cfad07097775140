//! The terminal: turns input into keys for the session, and draws the rows of the session.

use std::time::Duration;

use anyhow::{Context, Result};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};
use krm_files::signals::{Signals, Stopped};
use krm_show::screen;

use super::session::{Case, KeyAction, Next, Scroll, Session, Size, Start};
use krm_job::marked::Answer;

/// How often to check for a signal while waiting for a key.
const PATIENCE: Duration = Duration::from_millis(200);

/// A terminal in raw mode, in which each key arrives at once. The mode ends when this is dropped.
struct RawMode;

impl RawMode {
    fn begin() -> Result<Self> {
        enable_raw_mode().context("the terminal must give keys one by one")?;
        let raw = Self;
        screen::open()?;
        Ok(raw)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // If the terminal cannot be written, the error cannot be shown either.
        let _ = screen::close();
        let _ = disable_raw_mode();
    }
}

/// How a walk ends.
pub enum Walked {
    /// With an answer to each conflict; `None` if it has none.
    Answered(Vec<Option<Answer>>),
    /// The user takes back the merge by field with which it began.
    Unmerge,
}

/// Asks for an answer to each conflict. `edit` asks for a text, by the number of the conflict. `fault` says what is wrong with the text
/// that the answers make. If taking a side or both makes it wrong, that answer is refused. If a text of the user makes it wrong, the user takes
/// it back, or presses `q` twice to write it.
///
/// # Errors
/// The terminal cannot be read or written; a signal arrived; or the user wants nothing to be written.
pub fn ask(
    cases: &[Case],
    start: Start,
    signals: &Signals,
    edit: impl Fn(usize) -> Result<Vec<u8>>,
    fault: impl Fn(&[Option<Answer>]) -> Option<String>,
) -> Result<Walked> {
    let mut raw = Some(RawMode::begin()?);
    let mut session = Session::new(cases, start, size_now());
    let (mut wrong, mut is_asked): (Option<String>, bool) = (None, false);
    loop {
        let now = fault(session.given());
        if now != wrong {
            if let Some(now) = &now {
                session.tell(format!("{now}: press `u` to take the answer back"));
            }
            (wrong, is_asked) = (now, false);
        }
        screen::draw(session.screen().iter().map(|row| (row.paint, row.text.as_str())))?;
        let Some(key) = next_key(&mut session, signals)? else { continue };
        match session.press(key) {
            Next::Key if matches!(key, KeyAction::Ours | KeyAction::Theirs | KeyAction::Both | KeyAction::Newest) => {
                // Together with the other answers, it may leave a field twice. Such an answer is refused.
                if let Some(fault) = fault(session.given()).filter(|fault| Some(fault) != wrong.as_ref()) {
                    session.press(KeyAction::Undo);
                    session.tell(format!("{fault}: take another answer, or press `e` to edit"));
                }
            }
            Next::Key => {}
            Next::Write => match &wrong {
                Some(wrong) if !is_asked => {
                    session
                        .tell(format!("{wrong}: press `u` to take the answer back, or `q` to write it all the same"));
                    is_asked = true;
                }
                _ => return Ok(Walked::Answered(session.answers())),
            },
            Next::Stop => return Err(Stopped::by_key().into()),
            Next::Unmerge => return Ok(Walked::Unmerge),
            Next::Editor(number) => {
                drop(raw.take());
                let edited = signals.waiting(|| edit(number));
                signals.check()?;
                raw = Some(RawMode::begin()?);
                session.resize(size_now());
                match edited {
                    Ok(text) => session.edited(text),
                    Err(e) => session.tell(krm_files::errors::chain(&e)),
                }
            }
        }
    }
}

/// The next key; `None` for any other event. Then the screen is drawn again.
fn next_key(session: &mut Session<'_>, signals: &Signals) -> Result<Option<KeyAction>> {
    while !poll(PATIENCE).context("the terminal must be readable")? {
        signals.check()?;
        screen::check_someone_stays()?;
    }
    signals.check()?;
    Ok(match read().context("the terminal must be readable")? {
        Event::Key(pressed) if pressed.kind != KeyEventKind::Release => key(pressed, session),
        Event::Resize(..) => {
            session.resize(size_now());
            None
        }
        _ => None,
    })
}

fn size_now() -> Size {
    let (columns, rows) = size().unwrap_or((80, 24));
    Size { columns: usize::from(columns), rows: usize::from(rows) }
}

/// The action of a key of the terminal.
fn key(pressed: KeyEvent, session: &Session<'_>) -> Option<KeyAction> {
    if pressed.modifiers.contains(KeyModifiers::CONTROL) {
        return (pressed.code == KeyCode::Char('c')).then_some(KeyAction::Stop);
    }
    Some(match pressed.code {
        KeyCode::Char('o') => KeyAction::Ours,
        KeyCode::Char('t') => KeyAction::Theirs,
        KeyCode::Char('b') => KeyAction::Both,
        KeyCode::Char('n') => KeyAction::Newest,
        KeyCode::Char('e') => KeyAction::Edit,
        KeyCode::Char('s') => KeyAction::Skip,
        KeyCode::Char('u') => KeyAction::Undo,
        KeyCode::Char('q') => KeyAction::Quit,
        KeyCode::Enter if session.is_at_end() => KeyAction::Quit,
        KeyCode::Up | KeyCode::Char('k') => KeyAction::Scroll(Scroll::Up),
        KeyCode::Down | KeyCode::Char('j') => KeyAction::Scroll(Scroll::Down),
        KeyCode::PageUp => KeyAction::Scroll(Scroll::PageUp),
        KeyCode::PageDown | KeyCode::Char(' ') => KeyAction::Scroll(Scroll::PageDown),
        KeyCode::Home | KeyCode::Char('g') => KeyAction::Scroll(Scroll::Top),
        KeyCode::End | KeyCode::Char('G') => KeyAction::Scroll(Scroll::Bottom),
        _ => return None,
    })
}
