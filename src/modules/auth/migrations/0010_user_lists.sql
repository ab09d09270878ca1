-- Administrators list disabled accounts, which are few.
create index users_disabled on auth.users (id) where disabled_at is not null;

-- Without it the planner expects one name in 200 to begin with any text, and looks for it by a walk through all accounts.
create statistics auth.users_names on lower(name) from auth.users;
analyze auth.users;
