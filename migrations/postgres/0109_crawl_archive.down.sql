DROP TABLE archived_pages;
DROP TABLE archived_blobs;
