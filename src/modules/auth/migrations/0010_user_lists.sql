-- For the list of disabled accounts, which are few.
create index users_disabled on auth.users (id) where disabled_at is not null;

-- Without it the planner expects one name in 200 to match any prefix, and scans all accounts.
create statistics auth.users_names on lower(name) from auth.users;
analyze auth.users;
