-- Converts slugs to the composed form (Unicode TR15) in which they are compared. When two become equal, the
-- later one is not converted.
update catalog.products set slug = composed.slug
from (
  select distinct on (normalize(slug, nfc)) id, normalize(slug, nfc) as slug
  from catalog.products where slug is not nfc normalized order by normalize(slug, nfc), id
) composed
where products.id = composed.id
  and not exists (select from catalog.products others where others.slug = composed.slug);

update catalog.categories set slug = composed.slug
from (
  select distinct on (normalize(slug, nfc)) id, normalize(slug, nfc) as slug
  from catalog.categories where slug is not nfc normalized order by normalize(slug, nfc), id
) composed
where categories.id = composed.id
  and not exists (select from catalog.categories others where others.slug = composed.slug);
