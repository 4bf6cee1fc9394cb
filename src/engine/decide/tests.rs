//! The table of `decide`: one reply, one step, whole values.
use super::*;
use crate::json::Tree;
use crate::protocol::{CallId, Usage};

const WINDOW: u64 = 16_384;

fn reply(content: &str) -> Reply {
    Reply {
        content: Arc::new(content.to_string()),
        thinking: Arc::default(),
        calls: Vec::new(),
        stop: StopReason::Stop,
        usage: Usage {
            prompt_tokens: Some(900),
            output_tokens: Some(40),
            ..Usage::default()
        },
        recovered: false,
        notes: Vec::new(),
        tried: None,
    }
}

fn cut(content: &str) -> Reply {
    Reply {
        stop: StopReason::Length,
        ..reply(content)
    }
}

fn tried() -> Reply {
    let tried = Some("no closing tag".to_string());
    Reply {
        tried,
        ..reply("<function=read_file>")
    }
}

fn thought() -> Reply {
    let thinking = Arc::new("hm".to_string());
    Reply {
        thinking,
        ..reply("")
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: CallId("call_1".to_string()),
        name: "read_file".to_string(),
        arguments: Tree::empty_object(),
    }
}

/// The steps of replies that follow each other, in short.
#[track_caller]
fn check(strict: bool, replies: &[Reply], expected: &[&str]) {
    let mut tries = Tries::default();
    let steps =
        replies.iter().map(
            |reply| match decide(reply.clone(), strict, WINDOW, &mut tries) {
                Step::Finish(TurnEnd {
                    status,
                    answer,
                    why,
                    cut: _,
                }) => {
                    format!("{status:?} {answer:?} {}", why.unwrap_or_default())
                }
                Step::Nudge(nudge) => format!("nudge: {}", nudge.notice),
                Step::Run(calls) => format!("run {}", calls.len()),
            },
        );
    let steps: Vec<String> = steps.map(|step| step.trim_end().to_string()).collect();
    assert_eq!(steps, expected);
}

#[test]
fn a_plain_answer_ends_the_turn() {
    check(false, &[reply(" Hello.\n")], &["Done \" Hello.\\n\""]);
    let other = Reply {
        stop: StopReason::Other("eos".to_string()),
        ..reply("Hi")
    };
    check(false, &[other], &["Done \"Hi\""]);
}

#[test]
fn calls_are_run_whatever_stands_beside_them() {
    let calls = vec![call(), call()];
    check(
        false,
        &[Reply {
            calls: calls.clone(),
            ..reply("I look.")
        }],
        &["run 2"],
    );
    check(true, &[Reply { calls, ..cut("") }], &["run 2"]);
}

#[test]
fn strict_completion_asks_for_finish_task_twice() {
    check(
        true,
        &[reply("a"), reply("b"), reply("c")],
        &[
            "nudge: the model answered without finish_task; asking for it",
            "nudge: the model answered without finish_task; asking for it",
            "Failed \"c\" the model never called finish_task, which this run demands",
        ],
    );
}

#[test]
fn an_empty_reply_is_asked_about_once() {
    check(
        false,
        &[reply(" \n"), reply("")],
        &[
            "nudge: the model gave an empty reply; asking again",
            "Failed \"\" the model gave an empty reply, also when asked again",
        ],
    );
    check(
        false,
        &[thought(), thought()],
        &[
            "nudge: the model thought for 40 tokens, gave no answer; asking again",
            "Failed \"\" the model thought for 40 tokens, gave no answer, also when asked again",
        ],
    );
}

#[test]
fn a_reply_cut_because_the_prompt_filled_the_window_is_not_retried() {
    let with = |prompt, output, content| {
        let mut reply = cut(content);
        reply.usage.prompt_tokens = Some(prompt);
        reply.usage.output_tokens = Some(output);
        reply
    };
    let which = |prompt: u64| {
        let prompt = crate::text::grouped(prompt);
        format!(
            "Limit {{ which: \"the window of 16,384 tokens is full ({prompt} of them are the prompt), so the reply was cut; \
             use a larger one (--context-window) or start a new session\" }}"
        )
    };
    check(
        false,
        &[with(16_383, 1, "")],
        &[&format!("{} \"\"", which(16_383))],
    );
    check(
        false,
        &[with(10_000, 6_368, "half")],
        &[&format!("{} \"half\"", which(10_000))],
    );
    check(
        false,
        &[with(10_000, 6_367, "half")],
        &["nudge: the reply was cut by its length limit; asking for smaller steps"],
    );
}

#[test]
fn a_cut_answer_is_asked_to_be_shorter_once() {
    check(
        false,
        &[cut("half"), cut("half again")],
        &[
            "nudge: the reply was cut by its length limit; asking for smaller steps",
            "Limit { which: \"the reply was cut by its length limit, also when asked to be shorter\" } \"half again\"",
        ],
    );
}

#[test]
fn a_call_that_cannot_be_read_is_asked_for_again_twice() {
    let again = "nudge: the reply looked like a tool call but could not be read (no closing tag); asking again";
    check(
        false,
        &[tried(), tried(), tried()],
        &[
            again,
            again,
            "Failed \"<function=read_file>\" 3 replies in a row held a tool call that could not be read (no closing tag); \
             --tool-style text may suit this model better",
        ],
    );
}

#[test]
fn a_reply_with_calls_clears_the_counters() {
    let calls = Reply {
        calls: vec![call()],
        ..reply("")
    };
    let again = "nudge: the model gave an empty reply; asking again";
    check(
        false,
        &[reply(""), calls, reply("")],
        &[again, "run 1", again],
    );
}

#[test]
fn a_nudge_has_words_for_the_model_and_for_people() {
    let mut tries = Tries::default();
    let step = decide(reply(""), false, WINDOW, &mut tries);
    let note = "Your last reply was empty. Go on with the task: make the next tool call, or give your answer in plain words.";
    let notice = "the model gave an empty reply; asking again".to_string();
    let note = note.to_string();
    assert_eq!(step, Step::Nudge(Nudge { note, notice }));
}
