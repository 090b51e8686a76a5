mod alerts;
mod events;
mod keys;
mod projects;
mod redaction;
mod viewer_tiers;
mod viewer_tokens;
