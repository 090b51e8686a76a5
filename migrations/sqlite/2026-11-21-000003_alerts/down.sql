DROP TABLE alerts;
DROP TABLE alert_groups;
DROP TABLE alert_rules;
