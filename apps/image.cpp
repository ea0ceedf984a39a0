#include "image.hpp"

#include <kith/error.hpp>

#ifdef KITH_APPS_PNG
#include <png.h>
#endif

namespace kith::apps {

#ifdef KITH_APPS_PNG

image read_image(const std::string& path) {
  png_image file = {};
  file.version = PNG_IMAGE_VERSION;
  const auto must = [&](int done) {
    if (done != 0) return;
    const std::string why = file.message;
    png_image_free(&file);
    throw error(path + ": " + why + "; expected a PNG file");
  };
  must(png_image_begin_read_from_file(&file, path.c_str()));
  file.format = PNG_FORMAT_GRAY;
  image i{.rows = file.height, .columns = file.width, .shades = {}};
  i.shades.resize(PNG_IMAGE_SIZE(file));
  const png_color black = {};
  must(png_image_finish_read(&file, &black, i.shades.data(), 0, nullptr));
  return i;
}

#else

image read_image(const std::string& path) {
  throw error(path + ": this build did not find libpng; install libpng-dev and build again");
}

#endif

}  // namespace kith::apps
