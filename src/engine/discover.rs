//! Which model, which window, which tool style: asked of the server at the first prompt, on a worker thread, then settled by a pure
//! function for the rest of the session.
//!
//! ```text
//! GET  /api/tags    only when no model was named: which are there?
//! GET  /api/ps      which is loaded, with which window?
//! POST /api/show    capabilities, trained length, remote host
//!   ──▶ Found { model, card, loaded, window }  ──▶ plan ──▶ Plan { shape, text_style, notices }
//! ```
//!
//! Refused with the next step to take: no model, several and none chosen, a missing one (with near names). With `offline` nothing is
//! asked and every assumption is said.
//!
//! Invariant: at most one request of each kind, all before the first prompt. Invariant: no byte of a prompt is sent here.
use super::failure;
use crate::model::{
    self, Backend, Card, ChooseError, Loaded, OF_SESSION, Options, Shape, Think, ToolStyle, Wish,
    choose, cloud_host, cpu_notice, window,
};
use crate::protocol::{Level, Status};
use crate::sys::Cancel;
use crate::tools::{self, Set};

/// What the server said, and the choice.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) model: String,
    pub(super) why: String,
    pub(super) card: Card,
    pub(super) loaded: Option<Loaded>,
    pub(super) window: u64,
    pub(super) window_why: String,
    pub(super) offline: bool,
}

impl Found {
    /// The host that this model is forwarded to, if it does not run where it is asked.
    pub(super) fn forwarded_to(&self) -> Option<String> {
        cloud_host(&self.model, self.card.remote_host.as_deref())
    }

    fn has(&self, capability: &str) -> Option<bool> {
        let listed = self.card.capabilities.as_ref()?;
        Some(listed.iter().any(|known| known == capability))
    }
}

/// What is constant in each request of the session, and what to say about it.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) shape: Shape,
    pub(super) text_style: bool,
    pub(super) set: Set,
    pub(super) notices: Vec<(Level, String)>,
    /// The model lists thinking.
    pub(super) can_think: bool,
    /// The window that it had before we asked for ours, in case it was loaded.
    pub(super) window_before: Option<u64>,
    /// One of them says how much of the model runs on the CPU.
    pub(super) cpu_share_said: bool,
}

/// Asks the server. `Err` is how the turn ends.
pub(super) fn discover(
    backend: &Backend,
    options: &Options,
    offline: bool,
    cancel: &Cancel,
) -> Result<Found, Status> {
    let wish = Wish {
        model: options.model.clone(),
        last_used: options.last_used.clone(),
        num_ctx: options.num_ctx,
        tool_style: options.tool_style,
    };
    if offline {
        return assume(&wish);
    }
    // A server that loads a model may not answer this one; then we know less and go on.
    let loaded = || backend.loaded(cancel).unwrap_or_default();
    let (model, why, card, loaded) = match &wish.model {
        Some((model, by)) => {
            let card = backend.show(model, cancel).map_err(server_failed)?;
            (model.clone(), format!("named by {by}"), card, loaded())
        }
        None => {
            let entries = backend.models(cancel).map_err(server_failed)?;
            let loaded = loaded();
            let choice = choose(&wish, &entries, &loaded).map_err(unusable)?;
            let card = backend.show(&choice.model, cancel).map_err(server_failed)?;
            let mut why = choice.why;
            let before = wish.last_used.as_deref();
            if let Some(before) = before.filter(|name| !same_model(name, &choice.model)) {
                why.push_str(&format!("; the session's model, {before}, is not"));
            }
            (choice.model, why, card, loaded)
        }
    };
    let loaded = loaded
        .into_iter()
        .find(|entry| same_model(&entry.name, &model));
    let (window, window_why) = window(&wish, &card, loaded.as_ref());
    Ok(Found {
        model,
        why,
        card,
        loaded,
        window,
        window_why,
        offline: false,
    })
}

/// Without a server: what was named, and the most careful window.
fn assume(wish: &Wish) -> Result<Found, Status> {
    let (model, why) = match (&wish.model, &wish.last_used) {
        (Some((model, by)), _) => (model, format!("named by {by}")),
        (None, Some(model)) => (model, OF_SESSION.to_string()),
        (None, None) => {
            let reason =
                "no model is named and the server may not be asked; name one (--model)".to_string();
            return Err(Status::Unusable { reason });
        }
    };
    let card = Card::default();
    let (window, window_why) = window(wish, &card, None);
    Ok(Found {
        model: model.clone(),
        why,
        card,
        loaded: None,
        window,
        window_why,
        offline: true,
    })
}

/// `qwen3` and `qwen3:latest` are one model.
fn same_model(a: &str, b: &str) -> bool {
    let bare = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_string();
    bare(a) == bare(b)
}

fn server_failed(error: model::Error) -> Status {
    failure::status(&error)
}

fn unusable(error: ChooseError) -> Status {
    let reason = error.to_string();
    Status::Unusable { reason }
}

/// Settles the session: pure.
pub(super) fn plan(found: &Found, options: &Options) -> Plan {
    let mut notices = Vec::new();
    let text_style = text_style(found, options, &mut notices);
    let set = tool_set(found.card.parameter_size.as_deref());
    let think = think(found, options, &mut notices);
    if found.offline {
        let window = found.window;
        notices.push((
            Level::Warning,
            format!(
                "offline: the server was not asked; assumed are a window of {window} tokens, {} and a model that runs where it is asked",
                if text_style { "tools described in the text" } else { "a model with tools" },
            ),
        ));
    }
    // With another window the model is loaded again, and what is in video memory now says nothing.
    let kept = found
        .loaded
        .as_ref()
        .filter(|loaded| loaded.context_length == Some(found.window));
    let cpu_share = kept.and_then(|loaded| cpu_notice(loaded, found.window));
    let cpu_share_said = cpu_share.is_some();
    notices.extend(cpu_share.map(|text| (Level::Warning, text)));
    let native_tools = (!text_style).then(|| tools::schemas(set));
    let shape = Shape {
        model: found.model.clone(),
        window: found.window,
        max_output: None,
        think,
        native_tools,
        keep_alive: options.keep_alive.clone(),
        temperature: options.temperature,
        seed: options.seed,
    };
    Plan {
        shape,
        text_style,
        set,
        notices,
        can_think: found.has("thinking") == Some(true),
        window_before: found
            .loaded
            .as_ref()
            .and_then(|loaded| loaded.context_length),
        cpu_share_said,
    }
}

fn text_style(found: &Found, options: &Options, notices: &mut Vec<(Level, String)>) -> bool {
    let model = &found.model;
    match (options.tool_style, found.has("tools")) {
        (ToolStyle::Text, _) => true,
        (ToolStyle::Native, Some(false)) => {
            let text = format!(
                "{model} lists no tools; the server may refuse the request (--tool-style text needs none)"
            );
            notices.push((Level::Warning, text));
            false
        }
        (ToolStyle::Auto, Some(false)) => {
            let text = format!(
                "{model} lists no tools; they are described in the text instead (--tool-style text)"
            );
            notices.push((Level::Info, text));
            true
        }
        (ToolStyle::Native | ToolStyle::Auto, Some(true) | None) => false,
    }
}

/// `think` goes out only when the model lists it: sent to another model it is refused.
fn think(found: &Found, options: &Options, notices: &mut Vec<(Level, String)>) -> Option<Think> {
    let wish = options.think?;
    if found.has("thinking") != Some(false) {
        return Some(wish);
    }
    match wish {
        Think::Off => {}
        Think::On | Think::Low | Think::Medium | Think::High => {
            let text = format!(
                "{} does not list thinking; --think is left out",
                found.model
            );
            notices.push((Level::Info, text));
        }
    }
    None
}

/// Below this many billions of parameters the short list of tools is offered.
const LEAN_BELOW_BILLIONS: f64 = 10.0;

/// `8.2B`, `494.03M` → lean; anything else, also unreadable, → standard.
fn tool_set(parameter_size: Option<&str>) -> Set {
    let billions = parameter_size.and_then(|size| {
        let number = |unit: char| size.strip_suffix(unit)?.parse::<f64>().ok();
        number('B').or_else(|| number('M').map(|millions| millions / 1000.0))
    });
    match billions {
        Some(billions) if billions < LEAN_BELOW_BILLIONS => Set::Lean,
        Some(_) | None => Set::Standard,
    }
}

#[cfg(test)]
mod tests;
