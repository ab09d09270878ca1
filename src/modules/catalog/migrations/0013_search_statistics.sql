-- The planner estimates the frequency of a word from this many values. With the default of 100 it sometimes
-- took a word of every 900th product for one of every 100th, and scanned all products from the newest on.
alter table catalog.products
  alter column search_text set statistics 1000,
  alter column sku_text set statistics 1000;
analyze catalog.products (search_text, sku_text);
