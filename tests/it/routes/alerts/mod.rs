mod deliveries;
mod get;
mod patch;
mod rule_limits;
mod rules;
mod webhook_limits;
mod webhooks;
