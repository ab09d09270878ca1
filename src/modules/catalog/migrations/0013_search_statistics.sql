-- How rare a word is the planner estimates by as many values as these. By the usual 100, a word that every 900th product has was now and
-- then taken for one that every 100th has, and looked for among all products, from the newest on.
alter table catalog.products
  alter column search_text set statistics 1000,
  alter column sku_text set statistics 1000;
analyze catalog.products (search_text, sku_text);
