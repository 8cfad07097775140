#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| krm_merge_fuzz::merge::check(bytes));
