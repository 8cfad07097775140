#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| krm_merge_fuzz::parse::check(bytes));
