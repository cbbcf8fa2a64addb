//! The simulator gives the right answers: those of lavapipe over a corpus of shaders and over random programs, those of
//! an oracle in Rust where there is one, and those of naga's constant evaluator for operators and functions.

mod constant;
mod corpus;
mod device;
mod oracle;
mod program;
mod random;
mod ulps;
