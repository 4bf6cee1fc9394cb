//! The stand-in model: scripts, sentences, answers, scenes, and the programs built on them.

mod demo;
mod scenes;
mod script;
mod sentences;
mod server;
mod walk;
