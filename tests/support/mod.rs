//! What several test files share.

pub(crate) mod cuts;
pub(crate) mod run;
pub(crate) mod temp;
pub(crate) mod wire;
