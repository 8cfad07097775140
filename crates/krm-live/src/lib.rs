//! The three-way merge against a cluster. Original is the last applied state, updated is the files, dest is the live objects.
//!
//! [`live::live`] reads the objects of the cluster, shows what applying the files would change, and sends it with `--apply`. A `Local` is one
//! object with its three states. [`Ask`](args::Ask) gets the definition of a type.
//!
//! It is the only crate with a client, TLS and an executor. It never sends a change without `--apply`, and then only after a dry run by the
//! server. It deletes only members of an ApplySet, with `--prune`. It never shows a value of a Secret to a person.
//!
//! The modules in reading order, from the whole down to the bytes:

pub mod live;

mod adopt;
mod adopted;
mod applyset;
mod claim;
mod ready;
mod retold;
mod send;

mod drift;
mod remarks;
mod secret;

mod local;

mod unset;

mod defaults;
mod handover;
mod kubectl;
mod marks;
mod owners;

mod cluster;

mod credential;
mod http;
mod kubeconfig;

mod openapi;

mod object;

mod address;
mod order;
mod text;

pub mod args;
