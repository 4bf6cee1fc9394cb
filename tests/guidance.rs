//! Tests of `guidance`: real files, real links, and what is made of them.

mod agents;
mod frontmatter;
mod kit;
mod nearer;
mod prompts;
mod skills;
