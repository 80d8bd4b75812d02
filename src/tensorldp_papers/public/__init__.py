"""Public representations: functions of one record and of public data, fixed before any private record is seen."""
