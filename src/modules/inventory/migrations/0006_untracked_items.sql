-- Administrators list untracked items, which may be few among many.
create index items_untracked on inventory.items (id) where not tracked;
