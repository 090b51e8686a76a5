/* A disk that fails or lies. Loaded with LD_PRELOAD, it replaces fsync and fdatasync.
 *
 * FAULT_FSYNC_CONTROL names a file. While it does not exist, data is synced. While it begins with 'f' (fail), each call returns
 * EIO. While it begins with 'l' (lie), each call returns success without syncing. Each such call appends a byte to the file of
 * that name with ".calls" appended, so that a test knows that the fault has occurred. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sync_with(long call, int descriptor)
{
    const char *control = getenv("FAULT_FSYNC_CONTROL");
    int file = control ? open(control, O_RDONLY | O_CLOEXEC) : -1;
    char mode = 0, path[4096];
    if (file < 0)
        return syscall(call, descriptor);
    if (read(file, &mode, 1) != 1)
        mode = 0;
    close(file);
    if (mode != 'f' && mode != 'l')
        return syscall(call, descriptor);
    snprintf(path, sizeof path, "%s.calls", control);
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, &mode, 1) != 1)
        abort();
    close(file);
    if (mode == 'l')
        return 0;
    errno = EIO;
    return -1;
}

int fsync(int descriptor)
{
    return sync_with(SYS_fsync, descriptor);
}

int fdatasync(int descriptor)
{
    return sync_with(SYS_fdatasync, descriptor);
}
