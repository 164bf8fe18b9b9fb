/*
 * A failing disk: an LD_PRELOAD library for the fault tests.
 *
 * It wraps fsync, fdatasync and pread, only for files in the folder SHIM_ROOT:
 *
 *   SHIM_DELAY_MS  every call takes this much longer, as on a slow disk.
 *   SHIM_FAIL_FLAG while a file exists at this path, every call fails with EIO, as on a broken disk.
 *   SHIM_READ_FLAG while a file exists at this path, every read of the database and its log fails with EIO.
 *   SHIM_IMAGES    after each successful call (number N), what a power cut could leave is kept in this folder:
 *                    N.<name>.synced   the file as it was made durable by this call
 *                    N.<name>.current  every database file as it is now, durable or not
 *                    N.names           the names in the folder, when the call was for the folder itself
 *                  and "sync N" is appended to SHIM_LEDGER, where the process under test also appends what it was
 *                  promised, so that the order of promises and syncs is known.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long calls;

/* Whether the open file is in SHIM_ROOT; `name` becomes its name there, or "" for the folder itself. */
static int is_ours(int fd, char *name, size_t size) {
  const char *root = getenv("SHIM_ROOT");
  char link[64], path[4096];
  if (root == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  size_t root_length = strlen(root);
  if (strncmp(path, root, root_length) != 0) return 0;
  if (path[root_length] == 0) {
    name[0] = 0;
    return 1;
  }
  if (path[root_length] != '/') return 0;
  snprintf(name, size, "%s", path + root_length + 1);
  return 1;
}

static void copy_file(const char *from, const char *to) {
  char block[65536];
  int in = open(from, O_RDONLY);
  if (in < 0) return;
  int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t got;
  while (out >= 0 && (got = read(in, block, sizeof block)) > 0)
    if (write(out, block, got) != got) abort();
  close(in);
  if (out >= 0) close(out);
}

static int is_database_file(const char *name) {
  const char *suffix = strstr(name, ".db");
  return suffix != NULL && strcmp(suffix, ".db-shm") != 0;
}

static void keep_files(const char *root, const char *images, const char *synced) {
  char from[8192], to[8192];
  struct dirent *entry;
  DIR *folder = opendir(root);
  if (folder == NULL) abort();
  while ((entry = readdir(folder)) != NULL) {
    if (!is_database_file(entry->d_name)) continue;
    snprintf(from, sizeof from, "%s/%s", root, entry->d_name);
    snprintf(to, sizeof to, "%s/%lu.%s.current", images, calls, entry->d_name);
    copy_file(from, to);
    if (strcmp(entry->d_name, synced) != 0) continue;
    snprintf(to, sizeof to, "%s/%lu.%s.synced", images, calls, entry->d_name);
    copy_file(from, to);
  }
  closedir(folder);
}

static void keep_names(const char *root, const char *images) {
  char path[8192];
  struct dirent *entry;
  snprintf(path, sizeof path, "%s/%lu.names", images, calls);
  FILE *names = fopen(path, "w");
  DIR *folder = opendir(root);
  if (names == NULL || folder == NULL) abort();
  while ((entry = readdir(folder)) != NULL)
    if (is_database_file(entry->d_name)) fprintf(names, "%s\n", entry->d_name);
  closedir(folder);
  fclose(names);
}

static void keep_image(const char *name) {
  const char *root = getenv("SHIM_ROOT"), *images = getenv("SHIM_IMAGES"), *ledger = getenv("SHIM_LEDGER");
  char line[64];
  if (images == NULL || ledger == NULL) return;
  pthread_mutex_lock(&lock);
  calls += 1;
  if (name[0] == 0) keep_names(root, images);
  keep_files(root, images, name);
  int out = open(ledger, O_WRONLY | O_APPEND);
  int length = snprintf(line, sizeof line, "sync %lu\n", calls);
  if (out < 0 || write(out, line, length) != length) abort();
  close(out);
  pthread_mutex_unlock(&lock);
}

static int synchronise(int fd, const char *function) {
  char name[4096];
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, function);
  if (!is_ours(fd, name, sizeof name)) return real(fd);
  const char *delay = getenv("SHIM_DELAY_MS"), *fail = getenv("SHIM_FAIL_FLAG");
  if (delay != NULL) usleep(1000 * (useconds_t)atoi(delay));
  if (fail != NULL && access(fail, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int result = real(fd);
  if (result == 0) keep_image(name);
  return result;
}

static ssize_t read_at(int fd, void *into, size_t size, off_t at, const char *function) {
  char name[4096];
  const char *fail = getenv("SHIM_READ_FLAG");
  if (fail != NULL && access(fail, F_OK) == 0 && is_ours(fd, name, sizeof name) && is_database_file(name)) {
    errno = EIO;
    return -1;
  }
  ssize_t (*real)(int, void *, size_t, off_t) =
      (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, function);
  return real(fd, into, size, at);
}

ssize_t pread(int fd, void *into, size_t size, off_t at) { return read_at(fd, into, size, at, "pread"); }
ssize_t pread64(int fd, void *into, size_t size, off_t at) { return read_at(fd, into, size, at, "pread64"); }
int fsync(int fd) { return synchronise(fd, "fsync"); }
int fdatasync(int fd) { return synchronise(fd, "fdatasync"); }
